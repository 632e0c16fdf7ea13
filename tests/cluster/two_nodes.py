"""Two raylets on this machine, until stdin ends. Prints the address and the second one's process.

A process of its own: Ray's own warnings and threads stay out of the tests.
"""

from __future__ import annotations

import json
import os
import sys

os.environ.update(RAY_USAGE_STATS_ENABLED="0", RAY_BACKEND_LOG_LEVEL="fatal")

from ray.cluster_utils import Cluster

NODE = {"num_cpus": 1, "object_store_memory": 100 * 1024 * 1024, "include_dashboard": False}
SOON = {  # a lost node is noticed in seconds, not in half a minute
    "health_check_initial_delay_ms": 1000,
    "health_check_period_ms": 500,
    "health_check_timeout_ms": 2000,
    "health_check_failure_threshold": 3,
}

cluster = Cluster(initialize_head=True, head_node_args={**NODE, "_system_config": SOON})
second = cluster.add_node(num_cpus=1, object_store_memory=NODE["object_store_memory"])
raylet = second.all_processes["raylet"][0].process.pid
sys.stdout.write(json.dumps({"address": cluster.address, "raylet": raylet}) + "\n")
sys.stdout.flush()
sys.stdin.read()
cluster.shutdown()
