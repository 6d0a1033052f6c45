"""A small Django site that shows django_jobqueue at work, and the settings its tests start from."""
