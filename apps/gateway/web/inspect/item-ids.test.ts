import { describe, expect, it } from "vitest";
import { callRow, sentItem } from "../testing/calls.ts";
import { callOfItem, idOfItem, itemBefore, whyOfChange } from "./item-ids.ts";

describe("an item of a call", () => {
  it("is found in the call before when it changed since", () => {
    const [before, after] = [sentItem(4), sentItem(4, { index: 7 })];
    const diff = {
      ...{ from: callRow("58.2"), to: callRow("58.3") },
      changed: [{ before, after, why: "shortened" }],
      removed: [{ item: sentItem(2, { index: 1 }), why: "in summary C1" }],
    };
    const id = idOfItem("58.3", after);
    expect(callOfItem(id)).toBe("58.3");
    expect(itemBefore(diff, id)).toBe(idOfItem("58.2", before));
    expect(itemBefore(diff, idOfItem("58.3", sentItem(9, { index: 9 })))).toBeNull();
    expect(itemBefore(null, id)).toBeNull();
    expect(whyOfChange(diff, id)).toBe("shortened");
    expect(whyOfChange(diff, idOfItem("58.2", sentItem(2, { index: 1 })))).toBe("in summary C1");
    expect(whyOfChange(diff, idOfItem("58.3", sentItem(2, { index: 1 })))).toBeNull();
    expect(whyOfChange(null, id)).toBeNull();
  });
});
