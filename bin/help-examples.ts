/** Commands that work as they stand, in a shell, without any file. */
export const EXAMPLES = `
Examples:
  elastic-run --nproc-per-node 4 sh -c 'echo "worker $RANK of $WORLD_SIZE"'
  elastic-run --nproc-per-node 2 --max-restarts 1 node -e 'console.log(process.env.MASTER_PORT)'
  elastic-run --nproc-per-node 2 --dry-run --output json sh -c 'exit 0'

Other commands, as the first word: status [RUN_ID] (where a run stands), history RUN_ID (its
rounds), logs [RUN_ID], stop RUN_ID, leave (this node), clean (what is left over), validate (what
would be in force), doctor (what this machine lacks), chaos RUN_ID (faults on purpose), python-path
(where Python finds the runtime library), completion bash|zsh|fish.
Precedence: flag, environment variable, config file, default.
Durations: seconds, or 500ms, 30s, 10m, 1h.
`;
