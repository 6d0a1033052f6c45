"""What a chaos run is made of."""
