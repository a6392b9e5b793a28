"""Small environments of the corpus, with rewards of different size, sign and shape.

Importing this package registers them with Gymnasium. All of them take a few microseconds a step.
"""

from __future__ import annotations

import gymnasium

from corpus.environments.choices import (
    Bandit,
    Ferry,
    Harvest,
    Ladder,
    Ranking,
    Recall,
    Sorting,
    Typing,
)
from corpus.environments.continuous import (
    Arm,
    Beam,
    Berth,
    Crane,
    Cruise,
    Drone,
    Glider,
    PointMass,
    Sailing,
)
from corpus.environments.economy import (
    Betting,
    Cards,
    Farm,
    Inventory,
    Market,
    Prospect,
    Queue,
)
from corpus.environments.grids import (
    Cliff,
    Corridor,
    Delivery,
    Foraging,
    Grid,
    Maze,
    Patrol,
    Windy,
)
from corpus.environments.later import (
    Auction,
    Balance,
    Battery,
    Crossing,
    Dodge,
    Fishing,
    Hunting,
    Painting,
    Steering,
    Swing,
    Tracking,
)
from corpus.environments.moving import (
    Bridge,
    Catch,
    Docking,
    Lander,
    Lift,
    Parking,
)
from corpus.environments.processes import (
    Dam,
    Kiln,
    Mixing,
    Tank,
    Thermostat,
)

STEP_LIMITS = {
    Corridor: 40, Inventory: 50, PointMass: 60, Bandit: 10, Grid: 60, Thermostat: 100, Cruise: 100,
    Lander: 200, Recall: 10, Ranking: 8, Windy: 60, Queue: 80, Tank: 100, Harvest: 40, Betting: 15,
    Docking: 120, Maze: 60, Arm: 50, Mixing: 200,
    Kiln: 80, Glider: 150, Foraging: 60, Lift: 60,
    Ladder: 20, Ferry: 30, Prospect: 12, Beam: 200,
    Cards: 20, Cliff: 100, Patrol: 100, Crane: 120,
    Farm: 20, Bridge: 200, Sorting: 40, Catch: 20, Sailing: 80, Berth: 100,
    Market: 60, Typing: 30, Parking: 60, Delivery: 60, Drone: 100, Dam: 60,
    Balance: 150, Auction: 25, Dodge: 60, Crossing: 60, Steering: 120, Battery: 72,
    Fishing: 40, Painting: 80, Hunting: 60, Swing: 100, Tracking: 60,
}  # fmt: skip

for kind, limit in STEP_LIMITS.items():
    gymnasium.register(f"{kind.__name__}-v0", entry_point=kind, max_episode_steps=limit)
