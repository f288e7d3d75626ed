"""How does work reach rows and worker processes? Sail or Spark, the pool, child processes."""
