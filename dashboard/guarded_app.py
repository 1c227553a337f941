"""The pages of app.py behind the gate, as the dashboard is served."""

from __future__ import annotations

import streamlit as st
from starlette.middleware import Middleware

from dashboard.process.launch import lifespan
from dashboard.serving import gate

app = st.App("app.py", secrets=gate.secrets(), middleware=[Middleware(gate.Gate)], lifespan=lifespan)
