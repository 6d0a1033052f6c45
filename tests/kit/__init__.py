"""The kit for the tests of projects."""
