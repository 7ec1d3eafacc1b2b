// An example of every command, for its help and for sentences that say what is missing.
import type { Command } from "commander";

/** By the words behind `clew`, what else is typed. */
const EXAMPLES: Readonly<Record<string, string>> = {
  init: "--model ollama/qwen3:8b --engine lossless",
  start: "--port 0 --model ollama/qwen3:8b",
  chat: '--session work "What did we decide yesterday?"',
  acp: "--agent main",
  connect: "codex --write",
  status: "--json",
  stop: "--grace 60",
  logs: "--follow --level warn",
  "service install": "--print",
  "service uninstall": "",
  replay: "session.jsonl --engine lossless --context-window 32000",
  compare: "main --engines legacy,lossless --html report.html",
  whatif: "main --engine lossless --context-window 32000",
  "demo make": "",
  "demo remove": "",
  inspect: "main --call 58.3 --diff 58.2",
  "sessions list": "--limit 10 --find work",
  "sessions show": "main --limit 20",
  "sessions search": '"tide table" --limit 5',
  "sessions tail": "main --follow",
  "sessions usage": "main",
  "sessions rename": 'main "Tide tables"',
  "sessions fork": "main second-try",
  "sessions delete": "old-work --yes",
  "sessions export": "main --out main.md",
  "sessions import": "~/.claude/projects",
  "sessions repair": "session.jsonl --dry-run",
  "sessions compact": 'main --focus "open questions"',
  "sessions undo-compaction": "main",
  "storage copy": "--to postgres --check",
  usage: "main --json",
  "engine list": "",
  "engine status": "main",
  "engine retry": "main",
  "engine check": "./my-plugin --case order",
  "approvals list": "--session main",
  "approvals answer": "a1 once",
  "approvals link": "",
  mcp: "--agent main",
  "mcp list": "",
  "mcp status": "files",
  "mcp restart": "files",
  "cron add": '"every 30m" "Say what is new." --session main',
  "cron list": "",
  "cron history": "news --limit 5",
  "cron run": "news",
  "cron pause": "news",
  "cron resume": "news",
  "cron rm": "news",
  "lossless status": "--agent main",
  "lossless verify": "--agent main",
  "lossless doctor": "--agent main",
  "lossless backup": "--to ~/backups",
  "lossless backups": "",
  "lossless restore": "lossless-2026-11-03.db",
  "lossless export": "--to ~/exports --session main",
  "lossless import": "session.jsonl",
  "lossless migrate": "~/.openclaw/lcm.db --dry-run",
  "lossless retain": "--days 90",
  "lossless forget": '--text "the old address"',
  "policy check": "main --provider anthropic --model claude-opus-4-6",
  "policy apply": "session.jsonl --provider mistral --model mistral-large-latest",
  "models list": "claude",
  "models status": "",
  "models retry": "anthropic/claude-opus-4-6",
  "models test": "anthropic/claude-opus-4-6 --deep",
  "models sign-in": "",
  "models windows": "",
  "models forget": "ollama/qwen3:8b",
  "plugins install": "--link ./my-plugin",
  "plugins update": "my-plugin",
  "plugins rollback": "my-plugin",
  "plugins uninstall": "my-plugin --dry-run",
  "plugins pack": "./my-plugin --check",
  "plugins list": "--json",
  "plugins inspect": "lossless --runtime",
  "plugins doctor": "",
  "plugins enable": "lossless",
  "plugins disable": "my-plugin",
  "plugins reload": "",
  "config get": "agents.defaults.model.primary",
  "config set": "agents.defaults.model.primary ollama/qwen3:8b",
  "config unset": "agents.defaults.contextTokens",
  "config validate": "--json",
  "config import": "~/.openclaw/openclaw.json",
  "config schema": "",
  "config reference": "",
  doctor: "--fix",
  completion: "bash",
  emulate: "--api anthropic-messages --port 4100",
};

/** By the words behind `clew`. */
const pathOf = (command: Command): string[] =>
  command.parent === null ? [] : [...pathOf(command.parent), command.name()];

/** As it is typed; undefined for a group, and for what a plugin added without saying. */
export function exampleOf(command: Command): string | undefined {
  const path = pathOf(command).join(" ");
  const rest = EXAMPLES[path];
  return rest === undefined ? undefined : `clew ${path} ${rest}`.trimEnd();
}

/** Shows each command's example in its help. */
export function showExamples(command: Command): void {
  const example = exampleOf(command);
  if (example !== undefined) command.addHelpText("after", `\nExample:\n  ${example}`);
  for (const below of command.commands) showExamples(below);
}
