// Finds the title that a client had made for its conversation.

const LONGEST = 100;

/**
 * Pure. `asked` is what a request beside a conversation said, `reply` what it was answered.
 * Undefined: it was no title that was asked for.
 */
export function clientTitle(asked: string, reply: string): string | undefined {
  const text = reply.trim();
  const told = titleIn(text.replace(/^```(?:json)?\s*|\s*```$/g, ""));
  const title = told ?? (/\btitle\b/i.test(asked) ? text.replace(/^["']|["']$/g, "") : "");
  return title === "" || title.length > LONGEST || title.includes("\n") ? undefined : title;
}

function titleIn(text: string): string | undefined {
  if (!text.startsWith("{")) return undefined;
  try {
    const { title } = JSON.parse(text) as { title?: unknown };
    return typeof title === "string" ? title.trim() : undefined;
  } catch {
    return undefined;
  }
}
