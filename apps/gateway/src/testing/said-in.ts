// Tells who said what on the branch of a session, in its order.
import type { TestGateway } from "./gateway.ts";

/** "role: text" of each message. */
export async function saidIn({ gateway }: TestGateway, session: string): Promise<string[]> {
  const found = await gateway.store.read(session);
  return (found?.branch ?? []).flatMap((entry) => {
    if (entry.type !== "message") return [];
    const { role, content, stopReason } = entry.message as {
      role: string;
      content: string | { text?: string }[];
      stopReason?: string;
    };
    const text = typeof content === "string" ? content : content.map((one) => one.text).join("");
    return [`${role}: ${text}${stopReason === "aborted" ? " (aborted)" : ""}`];
  });
}
