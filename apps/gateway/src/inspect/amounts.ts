// In what the gateway's answers count tokens and money.
import { z } from "zod";

export const Tokens = z.int().nonnegative();
/** Of US dollars, as the catalogue prices them. */
export const Dollars = z.number().nonnegative();
