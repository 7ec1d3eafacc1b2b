// Stores turn after turn, and says how many are stored, until it is killed.
import { writeSync } from "node:fs";
import { conversation, toolResult, user } from "@clew/plugin-sdk/testing";
import { withMessageId } from "@clew/plugin-sdk/transcript";
import { named } from "../../messages/name.ts";
import { readMessages, storeMessages } from "../messages.ts";
import { indexMore } from "../search-index.ts";
import { useStore } from "../store.ts";

const { store } = useStore(process.argv[2]!);
const messages = [
  ...conversation({ turns: 1, tools: 1, toolResultChars: 200 }),
  toolResult({ id: "big", name: "read" }, "0".repeat(5_000)),
  user("the end"),
];
const { length } = readMessages(store, { conversation: 1, limit: 1_000_000 });
for (let turn = length / messages.length; ; turn++) {
  storeMessages(store, {
    session: { sessionId: "s", sessionKey: "agent:main:s" },
    messages: messages.map((message, index) => named(withMessageId(message, `${turn}-${index}`))),
    from: "told",
    advancementKey: `turn-${turn}`,
  });
  writeSync(1, `${turn + 1}\n`);
  if (turn % 3 === 0) indexMore(store, () => true);
}
