// Adds by what gateways know each other.

/** The public half: whoever reads the database proves nothing by it. Null: it signs nothing. */
export const NODE_KEYS = `
  alter table node add column public_key text;
`;
