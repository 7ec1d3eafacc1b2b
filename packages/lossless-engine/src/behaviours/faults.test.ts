import { toolCall, toolResult, user } from "@clew/plugin-sdk/testing";
import { describe, expect, it } from "vitest";
import { startLife } from "../testing/life.ts";
import { FAULTS, failingStatement } from "../testing/statement-faults.ts";
import { withIds } from "../testing/stored.ts";

const turn = withIds(
  [user("ask"), toolResult(toolCall("read"), "x".repeat(9_000)), user("and more")],
  "t",
);

describe("a statement that fails, whichever it is", () => {
  it.each(Object.entries(FAULTS))(
    "stores nothing of its turn, says why in one sentence, and the turn told again is whole: %s",
    async (_, errcode) => {
      const life = startLife();
      await life.tell(withIds([user("before")]));
      const statements = await failingStatement({ at: -1, errcode }, () =>
        life.tell(withIds([user("how many")], "n")),
      );
      expect(statements).toBeGreaterThan(5);
      let failures = 0;
      for (let at = 0; at < 3 * statements; at++) {
        const own = turn.map((message) => ({
          ...message,
          __openclaw: { id: `${at}-${String(message.__openclaw?.id)}` },
        }));
        const before = life.stored().length;
        const outcome = await failingStatement({ at, errcode }, () => life.tell(own)).catch(
          (error: Error) => error,
        );
        if (outcome instanceof Error) {
          failures++;
          expect(outcome.message).toMatch(
            /^The lossless engine cannot use its database \S+: [^.]+\.$/,
          );
        }
        const after = life.stored().length;
        expect([before, before + 3]).toContain(after);
        await life.tell(own);
        expect(life.stored()).toHaveLength(before + 3);
      }
      // A busy database is asked again at once, and one that was read-only is opened again.
      const isHealed = errcode === FAULTS.busy || errcode === FAULTS.readOnly;
      expect(failures > 0).toBe(!isHealed);
    },
  );
});
