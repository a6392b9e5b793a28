"""The critic of policy-gradient learners: its fit, its loss, the returns it sees."""
