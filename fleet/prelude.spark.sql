-- Spark 3.5 and later: the tables below the current folder as views. Spark has no timestamps of
-- nanoseconds; they are read as numbers (the second line), and no question needs them.
SET spark.sql.legacy.parquet.nanosAsLong = true;
CREATE OR REPLACE TEMPORARY VIEW recordings USING parquet OPTIONS (path 'recordings');
CREATE OR REPLACE TEMPORARY VIEW threads USING parquet OPTIONS (path 'threads');
CREATE OR REPLACE TEMPORARY VIEW frames USING parquet OPTIONS (path 'frames');
CREATE OR REPLACE TEMPORARY VIEW call_paths USING parquet OPTIONS (path 'call_paths', mergeSchema 'true');
CREATE OR REPLACE TEMPORARY VIEW sites USING parquet OPTIONS (path 'sites');
CREATE OR REPLACE TEMPORARY VIEW offcpu USING parquet OPTIONS (path 'offcpu');
CREATE OR REPLACE TEMPORARY VIEW samples USING parquet OPTIONS (path 'samples');
CREATE OR REPLACE TEMPORARY VIEW spans USING parquet OPTIONS (path 'spans');
CREATE OR REPLACE TEMPORARY VIEW labels USING parquet OPTIONS (path 'labels');
CREATE OR REPLACE TEMPORARY VIEW losses USING parquet OPTIONS (path 'losses');
CREATE OR REPLACE TEMPORARY VIEW episodes USING parquet OPTIONS (path 'episodes');
