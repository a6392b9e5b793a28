"""The Textual application: the only place that knows Textual."""
