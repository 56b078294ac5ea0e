"""The same on many machines: browser workers, engines and learners as processes of a Ray cluster.

Knows where things run and what to do when they are lost; what runs there is given by the recipes as functions that
can be sent to another machine. Nothing outside of this folder imports Ray.
"""
