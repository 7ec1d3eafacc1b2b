import type { AgentMessage } from "@clew/plugin-sdk/core";
import { expect, it } from "vitest";
import { asHistory, type ViewItem } from "./view-item.ts";
import { withheldBetween } from "./withheld.ts";

const user = (id: string, merged?: string[]): AgentMessage => ({
  ...{ role: "user", content: id },
  __openclaw: { id, ...(merged && { merged }) },
});

it("a message that another one was joined with is not withheld", () => {
  const before = ["1", "2", "3"].map(
    (id): ViewItem => ({ id, message: user(id), why: asHistory(id) }),
  );
  const told = { by: "policy", why: "no place" } as const;
  expect(withheldBetween(before, [user("1", ["2"])], told)).toEqual([{ entryId: "3", ...told }]);
});
