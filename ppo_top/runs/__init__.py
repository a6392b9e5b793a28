"""Sources to runs to evaluated timelines, and the session that holds them."""
