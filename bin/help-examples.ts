/** Commands that work in a shell as they are, without any file. */
export const EXAMPLES = `
Examples:
  elastic-run --nproc-per-node 4 sh -c 'echo "worker $RANK of $WORLD_SIZE"'
  elastic-run --nproc-per-node 2 node -e 'console.log(process.env.MASTER_PORT)'
  elastic-run --nproc-per-node 2 --dry-run --output json sh -c 'exit 0'

Precedence: flag, environment variable, config file, default.
Durations: seconds, or 500ms, 30s, 10m, 1h.
`;
