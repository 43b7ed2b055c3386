"""Results that are no paper's: what notebooks/beyond ask, and how it is judged."""
