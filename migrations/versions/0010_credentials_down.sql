DROP TABLE human_credentials;
