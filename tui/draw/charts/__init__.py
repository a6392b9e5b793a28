"""Pure drawing of curves: panels, zoomed charts, comparisons."""
