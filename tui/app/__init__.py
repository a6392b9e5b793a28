"""The Textual application: the only package of the screen that imports Textual."""
