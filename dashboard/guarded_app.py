"""The pages of app.py behind a gate and a sign-in, as Streamlit wants them where requests are looked at."""

from __future__ import annotations

import streamlit as st
from starlette.middleware import Middleware

from dashboard.serving import gate

app = st.App("app.py", secrets=gate.secrets(), middleware=[Middleware(gate.Gate)], lifespan=gate.lifespan)
