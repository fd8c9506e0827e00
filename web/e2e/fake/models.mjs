/** Models as the API shows them. */
export const modelOf = (id, tour = false) => ({
  id,
  name: tour ? "Tour" : id,
  connection: tour ? null : "conn_1",
  tour,
  tool_mode: "native",
  temperature: null,
  context_tokens: null,
  listed: { display_name: null, context_tokens: null, max_output_tokens: null, abilities: {} },
  fallbacks: [],
  input_usd_per_million: null,
  output_usd_per_million: null,
  cached_input_usd_per_million: null,
  cache_write_usd_per_million: null,
  audio_input_usd_per_million: null,
  audio_output_usd_per_million: null,
  price: tour
    ? null
    : {
        input_usd_per_million: 3,
        output_usd_per_million: 15,
        cached_input_usd_per_million: 0.3,
        cache_write_usd_per_million: null,
        audio_input_usd_per_million: null,
        audio_output_usd_per_million: null,
        long_context_above_tokens: 200_000,
        source: "catalogue",
        list: { source: "genai-prices 0.2.3", date: "2026-11-26", provider: "Anthropic", model: id },
      },
});
