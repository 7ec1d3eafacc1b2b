// What plugins' additions make of the system prompt and of the tools.
import type { Turn } from "../turn.ts";

/** Tools that are offered in this turn. */
export function allowedTools({ setup, additions }: Turn): Turn["setup"]["tools"] {
  const allowed = additions?.toolsAllow;
  return allowed === undefined
    ? setup.tools
    : setup.tools.filter((tool) => allowed.includes(tool.name));
}

/** Around the parts, or in their place. */
export function withAdditions(
  parts: Turn["setup"]["systemPrompt"],
  additions: Turn["additions"],
): Turn["setup"]["systemPrompt"] {
  if (additions === null) return parts;
  const part = (id: string, text: string | undefined) => (text ? [{ id, text }] : []);
  const base = additions.systemPrompt ? part("hook", additions.systemPrompt) : parts;
  return [
    ...part("hook-before", additions.prependSystemContext),
    ...base,
    ...part("hook-after", additions.appendSystemContext),
  ];
}
