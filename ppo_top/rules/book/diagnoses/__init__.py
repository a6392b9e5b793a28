"""Diagnoses: rules that fire together share one cause."""
