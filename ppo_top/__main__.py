"""`python -m ppo_top` is `ppo-top`."""

import sys

from ppo_top.cli import main

sys.exit(main())
