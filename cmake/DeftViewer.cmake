# Filled by the viewer: embeds the page built from src/deft/viewer/client.
