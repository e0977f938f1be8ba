"""What people and programs are told: mails and webhooks, written at once and sent by a worker."""
