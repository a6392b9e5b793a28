"""Tables of text: their headers, their rows, and files with a point a line."""
