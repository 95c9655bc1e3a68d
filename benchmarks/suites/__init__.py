"""What `./run bench NAME` measures, a module per benchmark; tools/run_benchmarks.py calls them."""
