"""`clickgrad plan`: what a run will take, before it is started. Loads neither torch nor ray nor a browser."""
