// How sessions at the door are named, and what such a name tells of the client.
import { randomBytes } from "node:crypto";
import type { DOOR_APIS } from "../config/door.ts";

type DoorApi = (typeof DOOR_APIS)[number];

/** Who is at the other end of a session, as far as its name says. */
export interface NamedClient {
  /** e.g. "Claude Code", else that of its wire. */
  title: string;
  /** True: it always gives its model tools, but for requests beside a conversation. */
  isAgent: boolean;
}

/** An agent that is known by what it says of itself. */
interface Agent {
  title: string;
  /** In the header in which programs name themselves, lower case. */
  program: RegExp;
  /** At the beginning of its system prompt. */
  prompt: RegExp;
}

/** By the names their sessions have. */
const AGENTS: Readonly<Record<string, Agent>> = {
  "claude-code": {
    title: "Claude Code",
    program: /^claude-(?:cli|code)\b/,
    prompt: /You are (?:Claude Code|a Claude agent)\b/,
  },
  codex: { title: "Codex", program: /^codex/, prompt: /You are Codex\b/ },
  opencode: { title: "opencode", program: /\bopencode\//, prompt: /You are opencode\b/i },
  "gemini-cli": {
    title: "Gemini CLI",
    program: /^geminicli\b/,
    prompt: /You are (?:an? .{0,40})?Gemini CLI\b/,
  },
  "qwen-code": {
    title: "Qwen Code",
    program: /^qwen-?code\b/,
    prompt: /You are Qwen Code\b/,
  },
  "kimi-code": { title: "Kimi Code", program: /^kimi/, prompt: /You are Kimi Code\b/ },
  copilot: {
    title: "Copilot CLI",
    program: /\bcopilot\b/,
    prompt: /You are (?:the )?(?:GitHub )?Copilot\b/,
  },
  cline: { title: "Cline", program: /^cline\b/, prompt: /You are Cline\b/ },
  pi: { title: "pi", program: /^pi\b/, prompt: /operating inside pi\b/ },
};

const NAMES = Object.keys(AGENTS);

const WIRES: Readonly<Record<DoorApi, { name: string; title: string }>> = {
  "openai-completions": { name: "chat", title: "Chat Completions" },
  "openai-responses": { name: "responses", title: "Responses" },
  "anthropic-messages": { name: "messages", title: "Messages" },
  "google-generative-ai": { name: "gemini", title: "generateContent" },
};

const TITLES: Readonly<Record<string, NamedClient>> = {
  ...Object.fromEntries(
    Object.entries(AGENTS).map(([name, { title }]) => [name, { title, isAgent: true }]),
  ),
  ...Object.fromEntries(
    Object.values(WIRES).map(({ name, title }) => [name, { title, isAgent: false }]),
  ),
};

/** What a request says of the program that sent it. */
export interface ClientSigns {
  /** Names in lower case. */
  headers: Readonly<Record<string, string | undefined>>;
  /** Its own name of the conversation, or of what that shares with others. Absent: none. */
  key?: string | undefined;
  /** The beginnings of what leads the request. */
  prompts: readonly string[];
}

/** Pure. The name that its sessions begin with; undefined: it is no agent that is known. */
export function agentOf({ headers, key, prompts }: ClientSigns): string | undefined {
  const told = key?.split(":")[0] ?? "";
  if (Object.hasOwn(AGENTS, told)) return told;
  return (
    programOf([headers["user-agent"], headers.originator, headers["x-title"]]) ??
    NAMES.find((name) => prompts.some((prompt) => AGENTS[name]!.prompt.test(prompt)))
  );
}

/** Pure. The same by what programs call themselves alone. */
export function programOf(told: readonly (string | undefined)[]): string | undefined {
  const programs = told.map((program) => program?.toLowerCase() ?? "");
  return NAMES.find((name) => programs.some((program) => AGENTS[name]!.program.test(program)));
}

const RANDOM = 6;

/** e.g. "agent:main:claude-code-3f2a9c1b0d4e": a client's name, else its wire's. */
export const newDoorKey = (agentId: string, name: string | undefined, api: DoorApi): string =>
  `agent:${agentId}:${name ?? WIRES[api].name}-${randomBytes(RANDOM).toString("hex")}`;

const NAME = /^agent:[^:]+:([a-z-]+)-[0-9a-f]{12}(?:\.|$)/;

/** Pure. Undefined: the door did not name it. */
export function clientNamedIn(key: string): NamedClient | undefined {
  const [, name = ""] = NAME.exec(key) ?? [];
  return Object.hasOwn(TITLES, name) ? TITLES[name] : undefined;
}
