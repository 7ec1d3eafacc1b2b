// A process that runs a command as the tool does, to be killed.
import { runCommand } from "../tools/run-command.ts";

const [cwd = "", command = ""] = process.argv.slice(2);
const { signal } = new AbortController();
await runCommand(command, { cwd, env: { PATH: process.env.PATH }, timeoutMs: 600_000, signal });
