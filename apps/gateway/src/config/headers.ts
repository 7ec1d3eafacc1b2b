// The schema of headers that settings have sent along.
import { validateHeaderName, validateHeaderValue } from "node:http";
import { z } from "zod";

/** What no request can carry is refused here: there it would cost every request. */
export const HeadersSchema = z.record(
  z.string().refine((name) => holds(() => validateHeaderName(name)), "is no name of a header"),
  z
    .string()
    .refine(
      (value) => holds(() => validateHeaderValue("x", value)),
      "holds a character that no header can carry, such as the end of a line",
    ),
);

function holds(validate: () => void): boolean {
  try {
    validate();
    return true;
  } catch {
    return false;
  }
}
