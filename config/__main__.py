from config.cli import main

main()
