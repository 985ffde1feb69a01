"""gpustrata.record as a callback of trainers: `from gpustrata.integrations import hf` or `lightning`, each of which needs its
trainer installed. `gpustrata run` needs none of them."""
