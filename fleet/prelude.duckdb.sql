-- DuckDB: the tables below the current folder as views. Run in the folder of `export --to parquet`:
--	perfkit fleet hosts DIR          or          cat prelude.duckdb.sql hosts.sql | (cd DIR && duckdb)
-- The variable `since` is a date: only recordings from then on; `tables` is where they are, if not here:
-- 's3://bucket/tables/'. All of a fleet's questions are in the
-- part of SQL that DuckDB, ClickHouse and Spark share; what they do not share is in their preludes.
SET enable_progress_bar = false; -- DuckDB 2 draws it into the answer
SET memory_limit = '3GB';
SET preserve_insertion_order = false;
CREATE OR REPLACE TEMP MACRO tables_of(files, by_name := false) AS TABLE
	SELECT * FROM read_parquet(coalesce(getvariable('tables'), '') || files, hive_partitioning = true, union_by_name = by_name, hive_types = {'date': DATE, 'host': VARCHAR})
	WHERE getvariable('since') IS NULL OR date >= getvariable('since');
CREATE OR REPLACE TEMP MACRO explode(list) AS unnest(list); -- Spark's word; split, array_distinct are DuckDB's, too
CREATE OR REPLACE TEMP VIEW recordings AS SELECT * FROM tables_of('recordings/*/*/*.parquet');
CREATE OR REPLACE TEMP VIEW threads AS SELECT * FROM tables_of('threads/*/*/*.parquet');
CREATE OR REPLACE TEMP VIEW frames AS SELECT * FROM tables_of('frames/*/*/*.parquet');
CREATE OR REPLACE TEMP VIEW call_paths AS -- `function` is younger than the table
	SELECT * FROM tables_of('call_paths/*/*/*.parquet', by_name := true);
CREATE OR REPLACE TEMP VIEW sites AS SELECT * FROM tables_of('sites/*/*/*.parquet');
CREATE OR REPLACE TEMP VIEW offcpu AS SELECT * FROM tables_of('offcpu/*/*/*.parquet');
CREATE OR REPLACE TEMP VIEW samples AS SELECT * FROM tables_of('samples/*/*/*.parquet');
CREATE OR REPLACE TEMP VIEW spans AS SELECT * FROM tables_of('spans/*/*/*.parquet');
CREATE OR REPLACE TEMP VIEW labels AS SELECT * FROM tables_of('labels/*/*/*.parquet');
CREATE OR REPLACE TEMP VIEW losses AS SELECT * FROM tables_of('losses/*/*/*.parquet');
CREATE OR REPLACE TEMP VIEW episodes AS SELECT * FROM tables_of('episodes/*/*/*.parquet');
