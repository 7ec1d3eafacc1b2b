import { expect, it } from "vitest";
import { startTestGateway } from "../testing/gateway.ts";

it("a limit that is no number above 0 is refused wherever one may be given", async () => {
  const { get } = await startTestGateway();
  for (const path of [
    "sessions",
    "sessions/main",
    "sessions/main/messages",
    "sessions/main/shadow",
  ])
    for (const limit of ["abc", "0", "-1", "1.5", ""]) {
      const response = await get(`/api/${path}?limit=${limit}`);
      const { error } = await response.json();
      expect([path, response.status, error.code]).toEqual([path, 400, "REQUEST_INVALID"]);
      expect(error.message).toBe(
        `limit=${limit} is no number to go by; give a whole number from 1 on, or leave it out.`,
      );
    }
});
