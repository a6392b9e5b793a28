"""Reports on runs that have been judged, in each format."""
