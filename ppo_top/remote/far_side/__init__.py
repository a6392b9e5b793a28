"""What runs where the logs are: ssh hands these modules to a Python there, as text.

That Python may be of version 3.6 and has its standard library alone: modules here import that and
each other. `ppo_top.remote.far_script` lists them and makes one text of them.
"""
