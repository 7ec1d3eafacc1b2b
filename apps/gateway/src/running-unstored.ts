// Says which sessions a running gateway answers without having stored all of them.
import { isRecord } from "@clew/plugin-sdk/host";
import type { OwnGateway } from "./gateway-client.ts";
import { shortName } from "./sessions/keys.ts";

/** One sentence for each: which, why, and what happens next. */
export function describeUnstored({ health }: Pick<OwnGateway, "health">): string[] {
  const { unstored } = health;
  if (!Array.isArray(unstored)) return [];
  return unstored.filter(isRecord).map(({ session, why }) => {
    const reason = String(why).replace(/\.$/, "");
    return `Session ${shortName(String(session))} is answered and not wholly stored: ${reason}. What is missing is stored with its client's next request, and lost where the client makes none.`;
  });
}
