"""The request pipeline: small steps between a run and its model, in this process."""
