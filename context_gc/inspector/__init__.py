"""The inspector: view models and components of the Streamlit pages. Only here, in app.py and in pages/: streamlit."""
