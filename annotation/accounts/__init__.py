"""People, roles, invitations, tokens and sign-in."""
