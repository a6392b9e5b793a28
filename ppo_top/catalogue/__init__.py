"""Which tag of which trainer means which concept: tables of data and what reads them."""
