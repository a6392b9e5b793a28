"""Console output: tables, dictionaries and lines of names and numbers that trainers print."""

from ppo_top.parsers.console.parser import FORMAT as FORMAT
