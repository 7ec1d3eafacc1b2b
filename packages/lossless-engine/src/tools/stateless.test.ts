import { user } from "@clew/plugin-sdk/testing";
import { expect, it, onTestFinished } from "vitest";
import { engineOn } from "../engine.ts";
import { createStores } from "../stores.ts";
import { otherSession, session } from "../testing/recall.ts";
import { withIds } from "../testing/stored.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";
import { createGrants } from "./grants.ts";
import { createReach } from "./reach.ts";
import { recallTools } from "./tools.ts";

it("a stateless session reads all conversations of the agent's database, and writes none", async () => {
  const [reach, grants] = [createReach(), createGrants()];
  const patterns = { statelessSessionPatterns: [otherSession.sessionKey] };
  const stores = createStores(temporaryFolder(), patterns);
  const engine = engineOn(reach.watching(stores), { grants });
  onTestFinished(() => engine.dispose?.());
  await engine.ingestBatch!({ ...session, messages: withIds([user("The bird is Melchior.")]) });
  await engine.ingestBatch!({ ...otherSession, messages: withIds([user("Which bird?")], "o") });
  const grep = recallTools({ reach, grants }).find(({ name }) => name === "lcm_grep")!;
  const call = async (args: object) => {
    const { content } = await grep.of(otherSession)!.execute("call", args);
    return content.map(({ text }) => text).join("");
  };
  const all = await call({ pattern: "Melchior", allConversations: true });
  expect(all).toContain("The bird is Melchior.");
  expect(all).toContain("what it said itself is found without allConversations");
  expect(await call({ pattern: "Melchior" })).toContain("Nothing found");
  expect(await call({ pattern: "bird" })).toContain("Which bird?");
  const { text } = await engine.control({ operation: "doctor" });
  expect(text).toContain("1 message of 1 conversation");
});
