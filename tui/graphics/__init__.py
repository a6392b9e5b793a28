"""Styled text, symbols, themes, sparklines and plots."""
