"""What a user sets in `ppo-top.toml`: thresholds, rules, tags, a goal, hooks."""

from ppo_top.settings.custom_rule import CustomRule as CustomRule
from ppo_top.settings.hook import HOOK_EVENTS as HOOK_EVENTS
from ppo_top.settings.hook import Hook as Hook
from ppo_top.settings.reader import SETTINGS_FILE as SETTINGS_FILE
from ppo_top.settings.reader import UnusableSettingsError as UnusableSettingsError
from ppo_top.settings.reader import load_settings as load_settings
from ppo_top.settings.settings import Settings as Settings
