CREATE FUNCTION orchestrator_refuse(message text) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION USING MESSAGE = message, ERRCODE = 'integrity_constraint_violation';
END $$;

CREATE FUNCTION orchestrator_write() RETURNS integer LANGUAGE sql STABLE AS $$
  SELECT CASE current_setting('orchestrator.write', true) WHEN '1' THEN 1 END
$$;

CREATE FUNCTION orchestrator_json_value(found json) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE json_typeof(found)
    WHEN 'string' THEN found #>> '{}'
    WHEN 'null' THEN NULL
    WHEN 'boolean' THEN CASE found::text WHEN 'true' THEN '1' ELSE '0' END
    ELSE found::text END
$$;

CREATE FUNCTION orchestrator_json_at(document text, path text) RETURNS json LANGUAGE sql IMMUTABLE AS $$
  SELECT document::json #> string_to_array(ltrim(translate(substr(path, 2), '[]', '.'), '.'), '.')
$$;

CREATE FUNCTION orchestrator_json_extract(document text, path text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT orchestrator_json_value(orchestrator_json_at(document, path))
$$;

CREATE FUNCTION orchestrator_json_type(document text, path text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE json_typeof(found)
    WHEN 'boolean' THEN found::text
    WHEN 'string' THEN 'text'
    WHEN 'number' THEN CASE WHEN found::text ~ '[.eE]' THEN 'real' ELSE 'integer' END
    ELSE json_typeof(found) END
  FROM orchestrator_json_at(document, path) found
$$;

CREATE FUNCTION orchestrator_json_length(document text, path text DEFAULT '$') RETURNS bigint
LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE json_typeof(found) WHEN 'array' THEN json_array_length(found) ELSE 0 END
  FROM orchestrator_json_at(document, path) found WHERE found IS NOT NULL
$$;

CREATE FUNCTION orchestrator_json_each(document text, path text DEFAULT '$')
RETURNS TABLE (key text, value text, type text) LANGUAGE sql IMMUTABLE AS $$
  SELECT key, orchestrator_json_value(member), orchestrator_json_type(member::text, '$') FROM (
    SELECT (place - 1)::text AS key, member FROM orchestrator_json_at(document, path) found,
      json_array_elements(CASE json_typeof(found) WHEN 'array' THEN found ELSE '[]' END)
      WITH ORDINALITY t(member, place)
    UNION ALL SELECT t.key, t.value FROM orchestrator_json_at(document, path) found,
      json_each(CASE json_typeof(found) WHEN 'object' THEN found ELSE '{}' END) t
  ) members
$$;

CREATE FUNCTION orchestrator_json_valid(document text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  RETURN document::json IS NOT NULL;
EXCEPTION WHEN invalid_text_representation THEN
  RETURN false;
END $$;

CREATE FUNCTION orchestrator_typeof(value anyelement) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN value IS NULL THEN 'null' ELSE CASE pg_typeof(value)::text
    WHEN 'bytea' THEN 'blob' WHEN 'text' THEN 'text' WHEN 'character varying' THEN 'text' ELSE 'integer' END END
$$;

CREATE FUNCTION orchestrator_add(so_far bigint, more boolean) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN more IS NULL THEN so_far ELSE coalesce(so_far, 0) + more::integer END
$$;

CREATE AGGREGATE sum(boolean) (SFUNC = orchestrator_add, STYPE = bigint);
