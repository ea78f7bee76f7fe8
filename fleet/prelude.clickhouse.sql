-- ClickHouse 25 and later: the tables below the current folder as views (clickhouse local, chdb). On a
-- server, file(...) becomes s3(...) with the bucket's address.
SET use_hive_partitioning = 1;
SET join_use_nulls = 1;
SET prefer_column_name_to_alias = 1;
SET input_format_parquet_allow_missing_columns = 1;
CREATE OR REPLACE FUNCTION explode AS (list) -> arrayJoin(list); -- Spark's words
CREATE OR REPLACE FUNCTION array_distinct AS (list) -> arrayDistinct(list);
CREATE OR REPLACE FUNCTION split AS (text, at) -> splitByString(at, text);
CREATE OR REPLACE VIEW recordings AS SELECT * FROM file('recordings/*/*/*.parquet', Parquet);
CREATE OR REPLACE VIEW threads AS SELECT * FROM file('threads/*/*/*.parquet', Parquet);
CREATE OR REPLACE VIEW frames AS SELECT * FROM file('frames/*/*/*.parquet', Parquet);
CREATE OR REPLACE VIEW call_paths AS SELECT * FROM file('call_paths/*/*/*.parquet', Parquet)
	SETTINGS schema_inference_mode = 'union'; -- `function` is younger than the table
CREATE OR REPLACE VIEW sites AS SELECT * FROM file('sites/*/*/*.parquet', Parquet);
CREATE OR REPLACE VIEW offcpu AS SELECT * FROM file('offcpu/*/*/*.parquet', Parquet);
CREATE OR REPLACE VIEW samples AS SELECT * FROM file('samples/*/*/*.parquet', Parquet);
CREATE OR REPLACE VIEW spans AS SELECT * FROM file('spans/*/*/*.parquet', Parquet);
CREATE OR REPLACE VIEW labels AS SELECT * FROM file('labels/*/*/*.parquet', Parquet);
CREATE OR REPLACE VIEW losses AS SELECT * FROM file('losses/*/*/*.parquet', Parquet);
CREATE OR REPLACE VIEW episodes AS SELECT * FROM file('episodes/*/*/*.parquet', Parquet);
